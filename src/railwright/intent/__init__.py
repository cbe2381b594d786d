"""What the operator wants: a profile, the site file over it, and what is waived."""
