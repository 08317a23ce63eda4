"""Messages of the framework: levels as in GLOG_v (0 debug, 1 info, 2 warning, 3 error, 4 critical),
to stderr.

GLOG_logtostderr=0 with GLOG_log_dir writes them to <dir>/rank_0/logs/mindspore.log instead.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from logging.handlers import RotatingFileHandler
from typing import Any

_LEVELS = {
    0: logging.DEBUG,
    1: logging.INFO,
    2: logging.WARNING,
    3: logging.ERROR,
    4: logging.CRITICAL,
}
_lock = threading.Lock()
_logger: logging.Logger | None = None
_seen: set[str] = set()


class _Format(logging.Formatter):
    """[LEVEL] ME(pid:thread,process):time [file:line] text"""

    def format(self, record: logging.LogRecord) -> str:
        place = "/".join(record.pathname.split(os.sep)[-3:])
        time = self.formatTime(record, "%Y-%m-%d-%H:%M:%S") + f".{int(record.msecs):03d}"
        who = f"{record.process}:{record.thread},{record.processName}"
        text = (
            f"[{record.levelname}] ME({who}):{time} [{place}:{record.lineno}] {record.getMessage()}"
        )
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        return text


def _handler() -> logging.Handler:
    if os.environ.get("GLOG_logtostderr", "1") != "0":
        return logging.StreamHandler(sys.stderr)
    folder = os.path.expanduser(os.environ.get("GLOG_log_dir", ""))
    if not folder:
        raise ValueError(
            "With GLOG_logtostderr=0, GLOG_log_dir must name a folder for the log files."
        )
    folder = os.path.join(folder, f"rank_{os.environ.get('RANK_ID', '0')}", "logs")
    os.makedirs(folder, exist_ok=True)
    size = int(os.environ.get("GLOG_max_log_size", "50")) * 1024 * 1024
    return RotatingFileHandler(os.path.join(folder, "mindspore.log"), maxBytes=size, backupCount=30)


def _get_logger() -> logging.Logger:
    """The logger of the framework, made at first use."""
    global _logger
    if _logger is None:
        with _lock:
            if _logger is None:
                logger = logging.getLogger("mindspore")
                logger.propagate = False
                handler = _handler()
                handler.setFormatter(_Format())
                logger.addHandler(handler)
                logger.setLevel(_LEVELS[_environment_level()])
                _logger = logger
    return _logger


def _environment_level() -> int:
    text = os.environ.get("GLOG_v", "2")
    if text not in ("0", "1", "2", "3", "4"):
        raise ValueError(f"GLOG_v must be one of 0, 1, 2, 3 and 4, but got '{text}'.")
    return int(text)


def _log(level: int, msg: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 2
    _get_logger().log(level, msg, *args, **kwargs)


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log at level 0."""
    _log(logging.DEBUG, msg, args, kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log at level 1."""
    _log(logging.INFO, msg, args, kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log at level 2."""
    _log(logging.WARNING, msg, args, kwargs)


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log at level 3."""
    _log(logging.ERROR, msg, args, kwargs)


def critical(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log at level 4."""
    _log(logging.CRITICAL, msg, args, kwargs)


def warn_once(key: str, msg: str) -> None:
    """Log at level 2, once in the process for each key."""
    if key not in _seen:
        _seen.add(key)
        _log(logging.WARNING, msg, (), {})


def get_level() -> str:
    """The level as GLOG_v has it, e.g. "2"."""
    current = _get_logger().level
    return str(next(number for number, level in _LEVELS.items() if level >= current))


def set_level(level: int | str) -> None:
    """Show messages of this level (0 to 4) and above."""
    if str(level) not in ("0", "1", "2", "3", "4"):
        raise ValueError(f"For 'set_level', the level must be one of 0 to 4, but got {level!r}.")
    _get_logger().setLevel(_LEVELS[int(level)])


def get_log_config() -> dict[str, str]:
    """The settings of the log."""
    config = {
        "GLOG_v": get_level(),
        "GLOG_logtostderr": os.environ.get("GLOG_logtostderr", "1"),
    }
    if config["GLOG_logtostderr"] == "0":  # into files
        config["GLOG_log_dir"] = os.environ.get("GLOG_log_dir", "")
        config |= {"logger_maxBytes": str(52428800), "logger_backupCount": str(30)}
    return config
