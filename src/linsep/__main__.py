"""``python -m linsep``: the same as the ``linsep`` command."""

from linsep.cli import main

if __name__ == "__main__":
    main(prog_name="linsep")
