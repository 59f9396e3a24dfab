package com.example.tasks.api;

import com.example.tasks.Task;

/** A task as clients see it. */
public record TaskView(String title, String assignee) {
    public static TaskView of(Task task) {
        return new TaskView(task.title(), task.assignee());
    }
}
