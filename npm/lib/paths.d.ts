// Where the home of warpline lies.

/**
 * The home, resolved at each call: `WARPLINE_HOME` where set, else the nearest `.warpline` of the
 * working directory's ancestors, else `.warpline` in the working directory.
 */
export declare function warplineHome(): string
