"""``python -m sluice_post``: the same as the command ``sluice-post``."""

import sys

from sluice_post.cli import main

if __name__ == "__main__":
    sys.exit(main())
