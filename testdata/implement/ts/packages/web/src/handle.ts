import type { Task } from "../../core/src/tasks.js";
import { view } from "./view";

/** Answers GET /tasks. */
export function handle(request: Request, tasks: Task[]): Response {
  if (new URL(request.url).pathname !== "/tasks") {
    return new Response(null, { status: 404 });
  }
  return Response.json(view(tasks));
}
