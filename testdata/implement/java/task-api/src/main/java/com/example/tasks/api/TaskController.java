package com.example.tasks.api;

import com.example.tasks.TaskService;
import java.util.List;

/** Answers clients. */
public class TaskController {
    private final TaskService service;

    public TaskController(TaskService service) {
        this.service = service;
    }

    public List<TaskView> assignedTo(String login) {
        return service.assignedTo(login).stream().map(TaskView::of).toList();
    }
}
