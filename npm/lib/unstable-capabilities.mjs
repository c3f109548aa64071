// Types alone: nothing exists here at run time.

export {}
