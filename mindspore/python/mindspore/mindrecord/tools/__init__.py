"""Converters of other formats to MindRecord."""
