package com.example.tasks;

/** One thing to do. */
public record Task(String title, String assignee) {
}
