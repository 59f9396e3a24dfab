import type { Task } from "../../core/src/tasks.js";

/** What clients get of the tasks. */
export interface TasksView {
  titles: string[];
}

export function view(tasks: Task[]): TasksView {
  return { titles: tasks.map((task) => task.title) };
}
