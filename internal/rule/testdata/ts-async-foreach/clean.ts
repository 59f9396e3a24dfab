xs.forEach((x) => save(x));
const s = ".forEach(async x";
