// Files that are whole or absent: atomic replacement, and reading what may not be there.

/**
 * Replaces a file in one step: a reader, or a crash, meets the old content or the new, never a part.
 * Missing directories are created.
 */
export declare function atomicWriteText(path: string, text: string): Promise<void>

/** Replaces a file with a value as JSON, indented by two spaces, ending in one newline. */
export declare function atomicWriteJson(path: string, value: unknown): Promise<void>

/** The value in a JSON file, or `null` where there is no file. Anything else that fails rejects. */
export declare function readJsonOrNull(path: string): Promise<unknown>
