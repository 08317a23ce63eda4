"""Wild arguments: every public function, method and cell is called with what it cannot take; `python -m wild` shows what comes."""
