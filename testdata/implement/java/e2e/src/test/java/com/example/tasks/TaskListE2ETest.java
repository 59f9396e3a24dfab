package com.example.tasks;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.tasks.api.TaskController;
import com.example.tasks.api.TaskView;
import java.util.List;
import org.junit.jupiter.api.Test;

class TaskListE2ETest {
    @Test
    void clientsSeeTheirTasks() {
        var controller = new TaskController(new TaskService(List.of(new Task("write", "maya"))));
        assertThat(controller.assignedTo("maya")).extracting(TaskView::title).containsExactly("write");
    }
}
