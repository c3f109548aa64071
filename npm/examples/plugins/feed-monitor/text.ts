// From what a server sends to the text of a feed: no more than can be wanted, in the encoding that it says it has.

/** The bytes of an answer; null for more than `limit`, beyond which nothing is read. */
export async function readBytes(answer: Response, limit: number): Promise<Uint8Array | null> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of answer.body ?? []) {
    size += part.length
    if (size > limit) return null
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** The byte order mark counts most, then what the server says, then what the feed says, and else it is UTF-8. */
function encodingOf(bytes: Uint8Array, contentType: string | null): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 200))
  const said =
    /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType ?? '') ??
    /^<\?xml\s[^>]*encoding\s*=\s*["']([\w.:-]+)/.exec(head)
  return said?.[1] ?? 'utf-8'
}

/** The text, with U+FFFD for bytes that mean nothing; null for an encoding that nobody knows. */
export function toText(bytes: Uint8Array, contentType: string | null): string | null {
  try {
    return new TextDecoder(encodingOf(bytes, contentType)).decode(bytes)
  } catch {
    return null
  }
}
