// From the configuration to a brief, and from a brief to the empty draft.
import { createHash } from 'node:crypto'

export type Brief = {
  title: string
  audience: string
  tone: string
  sections: string[]
  words_max: number
  cite_sources: boolean
  notes: string | null
}

const TONES = ['plain', 'formal', 'friendly']

/** One line of text, without what would begin another line or another heading. */
function line(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim() : ''
}

/** What the types of the manifest cannot say: the first input that is wrong, and the shape it must have. */
export function faultOf(args: Record<string, unknown>): string | null {
  const sections = args.sections as unknown[]
  const words = args.words_max as number
  if (line(args.title) === '') return 'input `title` must not be blank'
  if (line(args.audience) === '') return 'input `audience` must not be blank'
  if (!TONES.includes(args.tone as string))
    return `input \`tone\` must be one of ${TONES.join(', ')}`
  if (sections.length === 0 || sections.length > 20 || sections.some((each) => line(each) === '')) {
    return 'input `sections` must hold 1 to 20 texts that are not blank'
  }
  if (!Number.isInteger(words) || words < 50 || words > 5000) {
    return 'input `words_max` must be an integer from 50 to 5000'
  }
  return null
}

export function toBrief(args: Record<string, unknown>, notes: string | null): Brief {
  return {
    title: line(args.title),
    audience: line(args.audience),
    tone: args.tone as string,
    sections: (args.sections as unknown[]).map(line),
    words_max: args.words_max as number,
    cite_sources: args.cite_sources as boolean,
    notes,
  }
}

/** The same for the same brief, so that a second run finds the draft of the first; says nothing of what is in it. */
export function draftName(brief: Brief): string {
  const digest = createHash('sha256').update(JSON.stringify(brief)).digest('hex')
  return `draft-${digest.slice(0, 12)}.md`
}

export function skeleton({ title, sections }: Brief): string {
  return [`# ${title}`, ...sections.map((section) => `## ${section}`), ''].join('\n\n')
}
