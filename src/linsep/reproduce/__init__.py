"""The paper's experiment and theorems, measured again: ``linsep reproduce``.

`linsep.reproduce.figure_1` measures and draws Figure 1, `linsep.reproduce.theorems`
sets what was measured beside each bound, `linsep.reproduce.command` puts both on the
command line.
"""
