const m = /a+/.exec("b" + text);
pattern.exec(`a ${b}`);
exec("ls -l", done);
exec('pnpm', ['build', '-f', 'global-runtime']).then(done);
