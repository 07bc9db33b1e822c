import { Socket } from 'node:net';
import { lifelineDescriptor } from './protocol.ts';

// Runs as a thread of a pool's child. The main thread may be busy with a document for minutes and would not notice that the IPC
// channel closed; this thread only waits for the parent's end of the pipe to close.
const lifeline = new Socket({ fd: lifelineDescriptor });
lifeline.on('error', end);
lifeline.on('close', end);
lifeline.resume();

function end(): void {
  process.kill(process.pid, 'SIGKILL');
}
