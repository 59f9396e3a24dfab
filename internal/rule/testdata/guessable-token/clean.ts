const jitter = Math.random() * 100;
const token = crypto.randomUUID();
