// The upload route in a process of its own, which says how much memory it used: answers the message 'sign' with an upload target, and
// 'memory' with its largest resident set since the last time it was asked (bytes).
import { startUploadServer } from './upload-server.ts';

const server = await startUploadServer({ maxUploadBytes: 26_214_400 });
let peakBytes = 0;
let targets = 0;
setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}, 5);

process.on('message', (question) => void answer(question));
process.on('disconnect', () => void server.close().then(() => process.exit()));

async function answer(question: unknown): Promise<void> {
  if (question === 'sign') {
    process.send?.(await server.storage.signUpload({ key: `org/doc-${targets++}`, contentType: 'application/pdf' }));
    return;
  }
  process.send?.(Math.max(peakBytes, process.memoryUsage.rss()));
  peakBytes = 0;
}
