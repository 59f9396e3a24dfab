const sessionId = Math.random().toString(36); //~ major
