module example.com/taskmaster

go 1.24
