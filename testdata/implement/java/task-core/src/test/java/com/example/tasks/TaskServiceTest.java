package com.example.tasks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TaskServiceTest {
    @Test
    void listsNothingForAStranger() {
        var service = new TaskService(List.of(new Task("write", "maya")));
        assertThat(service.assignedTo("ali")).isEmpty();
    }
}
