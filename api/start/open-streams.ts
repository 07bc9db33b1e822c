import type { Logger } from 'pino';
import type { ServerConfig } from '../../base/config/server.ts';
import type { Db } from '../../db/connect.ts';
import { listen } from '../../db/listen.ts';
import { createChangeReader } from '../../domain/jobs/list-changed-jobs.ts';
import type { Cursors } from '../../domain/page.ts';
import { findStreamMembership } from '../caller.ts';
import { JobStreams } from '../streams/job-streams.ts';
import { createLeases } from '../streams/leases.ts';

interface StreamParts {
  config: ServerConfig;
  db: Db;
  sessionsDb: Db;
  now: () => Date;
  cursors: Cursors;
  log: Logger;
}

/** Opens the streams of jobs, and listens for what the database tells them. */
export function openStreams({ config, db, sessionsDb, now, cursors, log }: StreamParts) {
  const jobStreams = new JobStreams({
    readChanges: createChangeReader(db),
    now,
    cursors,
    log,
    leases: createLeases(sessionsDb, config.streams),
    findMembership: (caller, place) => findStreamMembership(sessionsDb, caller, place),
    limits: config.streams,
  });
  const listener = listen({
    url: config.database.directUrl,
    channel: 'job_changed',
    onNotification: (payload) => jobStreams.notify(payload),
    onListening: () => jobStreams.wakeAll(),
    onError: (error) => log.warn({ err: error }, 'notifications were lost; the connection is made again'),
  });
  return { jobStreams, listener };
}
