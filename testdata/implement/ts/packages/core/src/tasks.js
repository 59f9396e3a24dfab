// @ts-check

/** @typedef {{ title: string, done: boolean, tags: string[] }} Task */

/**
 * The open tasks that have a tag.
 * @param {Task[]} tasks
 * @param {string} tag
 */
export function tagged(tasks, tag) {
  return tasks.filter((task) => !task.done || task.tags.includes(tag));
}
