"""What this hardware can do: facts in, predictions out. Nothing here touches a machine."""
