"""Plays commands in a pseudo-terminal, as a person would, and tells what stood on the screen at the end of each.

Standard input: {"cwd", "env", "columns", "steps": [{"command", "answers": [[prompt, text], ...]}]} as JSON.
Standard output: [{"screen", "status"}, ...], one for each step; the screen without the spaces at the ends of lines.
"""

import json
import sys

import pexpect
import pyte

ROWS = 400  # More than any command prints, so that nothing scrolls away.
LIMIT = 300


def play(step, cwd, env, columns):
    screen = pyte.Screen(columns, ROWS)
    stream = pyte.Stream(screen)
    child = pexpect.spawn(
        "/bin/bash",
        ["--norc", "--noprofile", "-c", step["command"]],
        cwd=cwd,
        env=env,
        dimensions=(ROWS, columns),
        encoding="utf-8",
        timeout=LIMIT,
    )
    for prompt, text in step.get("answers", []):
        child.expect_exact(prompt)
        stream.feed(child.before + child.after)
        if text is not None:
            child.sendline(text)
    child.expect(pexpect.EOF)
    stream.feed(child.before)
    child.close()
    if child.exitstatus is None:
        raise SystemExit(f"{step['command']}: ended by signal {child.signalstatus}")
    lines = [line.rstrip() for line in screen.display]
    return {"screen": "\n".join(lines).rstrip("\n"), "status": child.exitstatus}


def main():
    given = json.load(sys.stdin)
    steps = (play(step, given["cwd"], given["env"], given["columns"]) for step in given["steps"])
    json.dump(list(steps), sys.stdout)


if __name__ == "__main__":
    main()
