"""One line over a run, as a small SVG: enough to see whether something is flat."""

from pathlib import Path

WIDTH, HEIGHT, EDGE = 640, 240, 48


def write_line(path: Path, title: str, values: dict[str, float], unit: str) -> None:
    """Values by what stands below each, at equal steps, from zero upwards."""
    top = max(values.values()) * 1.15 or 1.0
    step = (WIDTH - 2 * EDGE) / max(len(values) - 1, 1)
    points = [
        (EDGE + place * step, HEIGHT - EDGE - value / top * (HEIGHT - 2 * EDGE))
        for place, value in enumerate(values.values())
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    labels = "".join(
        f'<text x="{x:.1f}" y="{HEIGHT - EDGE + 18}" text-anchor="middle">'
        f"{below}</text>"
        f'<text x="{x:.1f}" y="{y - 8:.1f}" text-anchor="middle">{value:.3g}</text>'
        for (x, y), (below, value) in zip(points, values.items(), strict=True)
    )
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>'
        f'<text x="{EDGE}" y="20" font-size="13">{title} ({unit})</text>'
        f'<line x1="{EDGE}" y1="{HEIGHT - EDGE}" x2="{WIDTH - EDGE}" y2="{HEIGHT - EDGE}" '
        f'stroke="black"/><polyline points="{line}" fill="none" stroke="#1f6fb2" '
        f'stroke-width="2"/>{labels}</svg>\n',
        "utf-8",
    )
