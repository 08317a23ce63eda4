"""A canvas for previews: rectangles, lines, bars, pictures, and letters of three by five dots."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# Each letter as five rows of three dots, a digit of base eight for each row.
_LETTERS = dict(
    part.split(" ")
    for part in (
        "0 75557;1 26227;2 71747;3 71717;4 55711;5 74717;6 74757;7 71122;8 75757;9 75717;A 75755;B 65656;C 74447;D 65556;"
        "E 74747;F 74744;G 74557;H 55755;I 72227;J 11157;K 55655;L 44447;M 57755;N 65555;O 25552;P 75744;Q 75571;R 75655;"
        "S 34216;T 72222;U 55557;V 55552;W 55775;X 55255;Y 55222;Z 71247;- 00700;. 00002;: 02020;_ 00007;/ 11244;% 51245;"
        "+ 02720;( 24442;) 21112;, 00024;= 07070;[ 64446;] 31113;? 71202;' 22000;! 22202;* 05250;& 25257;< 12421;> 42124"
    ).split(";")
)
INK, FAINT, BAR = (40, 40, 48), (208, 208, 214), (70, 120, 190)


class Canvas:
    """Pixels to draw on, white at first."""

    def __init__(self, height: int, width: int) -> None:
        self.pixels = np.full((height, width, 3), 255, np.uint8)

    def fill(self, top: int, left: int, height: int, width: int, color: Sequence[int]) -> None:
        """A rectangle; what is outside is cut off."""
        self.pixels[max(top, 0) : max(top + height, 0), max(left, 0) : max(left + width, 0)] = color

    def write(self, top: int, left: int, text: str, dot: int = 2) -> None:
        """A line of text."""
        for number, letter in enumerate(text.upper()):
            rows = _LETTERS.get(letter, "00000" if letter == " " else _LETTERS["?"])
            for y, row in enumerate(rows):
                for x in range(3):
                    if int(row) >> (2 - x) & 1:
                        self.fill(top + y * dot, left + (number * 4 + x) * dot, dot, dot, INK)

    def bars(self, top: int, left: int, height: int, width: int, counts: Sequence[float]) -> None:
        """A histogram in a box."""
        self.fill(top, left, height, width, (245, 245, 248))
        most = max(counts, default=0) or 1
        step = width / max(len(counts), 1)
        for number, count in enumerate(counts):
            tall = round(height * count / most)
            tall = max(tall, 1) if count else 0
            thick = max(int(step) - 1, 1)
            self.fill(top + height - tall, left + int(number * step), tall, thick, BAR)

    def line(self, top: int, left: int, size: int, values: np.ndarray) -> None:
        """A curve in a square."""
        self.fill(top, left, size, size, (245, 245, 248))
        places = np.linspace(0, len(values) - 1, size).astype(int)
        heights = np.nan_to_num(values[places].astype(np.float64))
        low, high = heights.min(), heights.max()
        rows = ((high - heights) / max(high - low, 1e-12) * (size - 2)).astype(int)
        for x, (y, before) in enumerate(zip(rows, [rows[0], *rows])):
            self.fill(top + min(y, before), left + x, abs(y - before) + 2, 1, BAR)

    def picture(self, top: int, left: int, size: int, pixels: np.ndarray) -> None:
        """A picture, scaled to fit into a square; `pixels` are bytes of height × width × 3."""
        height, width = pixels.shape[:2]
        scale = size / max(height, width)
        tall, wide = max(int(height * scale), 1), max(int(width * scale), 1)
        rows = (np.arange(tall) * height // tall).clip(0, height - 1)
        columns = (np.arange(wide) * width // wide).clip(0, width - 1)
        self.pixels[top : top + tall, left : left + wide] = pixels[rows][:, columns]


__all__ = ["BAR", "FAINT", "INK", "Canvas"]
