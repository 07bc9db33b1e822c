import { expect } from 'chai';
import { type Room, RoomQueue } from '../../concurrency/room-queue.ts';

describe('Callers that wait for room', () => {
  /** Rooms of ten for each key, and of fifteen for all. What is asked for is how much; more than eight is too much for whoever asks. */
  function createRooms() {
    const used = new Map<string, number>();
    const total = () => [...used.values()].reduce((sum, each) => sum + each, 0);
    const roomFor = ({ key, size }: { key: string; size: number }): Room => {
      if (size > 8) return 'own full';
      if ((used.get(key) ?? 0) + size > 10) return 'key full';
      return total() + size > 15 ? 'all full' : 'free';
    };
    const queue = new RoomQueue<{ key: string; size: number }>({
      maxWaiting: 3,
      roomFor,
      take: ({ key, size }) => void used.set(key, (used.get(key) ?? 0) + size),
    });
    const taken: string[] = [];
    return {
      queue,
      taken,
      ask: async (key: string, size: number, signal = new AbortController().signal, patienceMs = 60_000) => {
        if (await queue.take(key, { key, size }, patienceMs, signal)) taken.push(`${key}${size}`);
        else taken.push(`not ${key}${size}`);
      },
      giveBack: (key: string, size: number) => {
        used.set(key, (used.get(key) ?? 0) - size);
        queue.serve();
      },
    };
  }
  const leaving = () => {
    const left = new AbortController();
    return { signal: left.signal, leave: () => left.abort(new Error('left')) };
  };

  it('are served in turns by key, and in their order within one', async () => {
    const { ask, taken, giveBack } = createRooms();
    await ask('a', 8);
    await ask('b', 7);
    const waiting = [ask('c', 5), ask('c', 5), ask('d', 5)];
    giveBack('a', 8);
    giveBack('b', 7);
    await Promise.all(waiting);
    expect(taken).to.deep.equal(['a8', 'b7', 'c5', 'd5', 'c5']);
  });

  it('do not wait behind one that waits for room of its own', async () => {
    const { ask, taken } = createRooms();
    void ask('a', 9, undefined, 20);
    await ask('a', 5);
    expect(taken).to.deep.equal(['a5']);
  });

  it('are forgotten when they leave, or wait for too long, also in the moment in which they would be served', async () => {
    const { queue, ask, taken, giveBack } = createRooms();
    await ask('a', 8);
    const [one, two] = [leaving(), leaving()];
    const left = ask('a', 8, one.signal).catch((error: Error) => taken.push(error.message));
    const impatient = ask('a', 7, undefined, 10);
    const late = ask('b', 8, two.signal).catch((error: Error) => taken.push(error.message));
    one.leave();
    two.leave();
    giveBack('a', 1);
    const other = ask('c', 8);
    const again = ask('b', 8);
    await Promise.all([left, impatient, late, other]);
    expect(taken).to.have.members(['a8', 'left', 'left', 'not a7', 'c8']);
    expect(queue.keys).to.equal(1);
    giveBack('c', 8);
    await again;
    expect(queue.keys).to.equal(0);
  });

  it('are refused at once if too many wait, and rejected if they have left already', async () => {
    const { ask, taken } = createRooms();
    await ask('a', 8);
    const waiting = [8, 7, 6].map((size) => ask('a', size, undefined, 20));
    await ask('a', 5);
    expect(taken).to.deep.equal(['a8', 'not a5']);
    const gone = leaving();
    gone.leave();
    expect(await ask('b', 1, gone.signal).catch((error: Error) => error.message)).to.equal('left');
    await Promise.all(waiting);
  });

  it('name the first who waits for nothing but what all share', async () => {
    const { queue, ask } = createRooms();
    await ask('a', 8);
    await ask('b', 5);
    const waiting = [ask('a', 3, undefined, 20), ask('a', 2, undefined, 20), ask('c', 9, undefined, 20), ask('c', 4, undefined, 20)];
    expect(queue.findWaitingForAll()).to.deep.equal({ key: 'c', size: 4 });
    await Promise.all(waiting);
    expect(queue.findWaitingForAll()).to.equal(undefined);
  });
});
