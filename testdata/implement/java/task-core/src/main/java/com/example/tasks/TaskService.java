package com.example.tasks;

import java.util.List;

/** What can be done with tasks. */
public class TaskService {
    private final List<Task> tasks;

    public TaskService(List<Task> tasks) {
        this.tasks = tasks;
    }

    /** The tasks of a person, by login. */
    public List<Task> assignedTo(String login) {
        return tasks.stream().filter(task -> task.assignee() == login).toList();
    }
}
