// debugger;
const s = "debugger;";
startDebugger();
