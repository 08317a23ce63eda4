"""Names of the video readers: no library that decodes video comes with the package, so they say that."""

from __future__ import annotations

from typing import Any, NoReturn


def _unsupported(name: str) -> NoReturn:
    raise RuntimeError(
        f"For '{name}', video must be decoded by another library, whose frames are arrays: this "
        "package has none."
    )


class VideoDecoder:
    """A decoder of one video; raises RuntimeError."""

    def __init__(self, source: Any) -> None:
        _unsupported("VideoDecoder")


class DecodeVideo:
    """A transform of encoded video to frames; raises RuntimeError."""

    def __init__(self) -> None:
        _unsupported("DecodeVideo")


def read_video(
    filename: str, start_pts: float = 0, end_pts: float | None = None, pts_unit: str = "pts"
) -> Any:
    """Frames and sound of a video; raises RuntimeError."""
    _unsupported("read_video")


def read_video_timestamps(filename: str, pts_unit: str = "pts") -> Any:
    """When the frames of a video are shown; raises RuntimeError."""
    _unsupported("read_video_timestamps")


def get_video_backend() -> str:
    """The library that decodes video: none."""
    return ""
