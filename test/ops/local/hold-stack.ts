// Starts Postgres and Temporal on a directory, says so on standard output, and holds them: `node hold-stack.ts <directory>`.
import { startStack } from '../../../ops/local/stack.ts';

const stack = await startStack({ dataDir: process.argv[2] ?? '', services: ['postgres', 'temporal'], temporalUi: false });
const pids = [stack.pid('postgres'), stack.pid('temporal'), stack.supervisor.guardPid];
console.log(JSON.stringify({ pids, databaseUrl: stack.databaseUrl }));
setInterval(() => undefined, 60_000);
