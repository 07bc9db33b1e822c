// Imported before the program: the disk is full for files that are written through a handle, as uploads are.
import { open } from 'node:fs/promises';

const handle = await open('/dev/null');
const written = Object.getPrototypeOf(handle) as Record<string, unknown>;
await handle.close();
const isFull = () => Promise.reject(Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', errno: -28 }));
written.write = isFull;
written.writev = isFull;
written.writeFile = isFull;
