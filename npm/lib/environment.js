// The process as the engine sees it: environment variables and working directory.

/** @returns {string} JSON text `{vars, cwd}` */
export function environmentJson() {
  return JSON.stringify({ vars: { ...process.env }, cwd: process.cwd() })
}
