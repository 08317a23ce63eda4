"""What the parts of MindRecord share."""
