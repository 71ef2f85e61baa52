"""The compiled executor: kernels in place of functions of `game` and `observe`, with the same results to the last bit.

`compiled` registers what runs in place of numpy's functions; `step`, `view`, `encode`, `rollout` and `worlds` have the
kernels, `single` plays one table.  `jit` marks what machine code can be made from, `formulas` what kernels take from
`game`.  `compiler` makes it by what numba documents; `numba_backend` alone knows numba's inner parts, and `uncompiled`
runs kernels as Python for a debugger.
"""
