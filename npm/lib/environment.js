// The process as the engine sees it: environment variables and working directory.

/** @returns {string} JSON text `{vars, cwd}` */
export function environmentJson() {
  return JSON.stringify({ vars: { ...process.env }, cwd: workingDirectory() })
}

/** A directory that was deleted keeps its name here: what is relative to it is then not found. */
function workingDirectory() {
  try {
    return process.cwd()
  } catch {
    return process.env.PWD ?? '/'
  }
}
