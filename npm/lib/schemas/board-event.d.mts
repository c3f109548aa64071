// The shape of the board's events (`state/events.jsonl`) and of `state/acknowledgements.json`.

export * from './board-event.js'
