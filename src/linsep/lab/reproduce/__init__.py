"""The paper's experiment and theorems, measured again: ``linsep reproduce``.

`figure_1` measures Figure 1, `drawing` draws it, `theorems` sets what was measured
beside each bound, `command` puts both on the command line.
"""
