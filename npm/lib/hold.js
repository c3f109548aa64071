// Listeners of the process that plugin code cannot end.

'use strict'

/**
 * Listens to the process in a way that plugin code cannot end: a listener it takes away comes back.
 *
 * @param {string} event
 * @param {(...args: any[]) => void} listener
 * @param {() => void} [removed] called when it had to come back
 */
function hold(event, listener, removed = () => {}) {
  const listen = () => {
    if (!process.listeners(/** @type {any} */ (event)).includes(listener))
      process.on(/** @type {any} */ (event), listener)
  }
  listen()
  process.on('removeListener', (_event, gone) => {
    if (gone !== listener) return
    listen()
    removed()
    // Who takes all away ends by emptying the list.
    queueMicrotask(listen)
  })
}

module.exports = { hold }
