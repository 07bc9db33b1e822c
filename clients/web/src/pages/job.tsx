import { Alert, Group, Paper, Text } from '@mantine/core';
import type { Job } from '@sheaf/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { stuckQuery } from '../admin-queries.ts';
import { Foreign } from '../components/foreign.tsx';
import { JobState } from '../components/job-state.tsx';
import { LinkTo } from '../components/link-to.tsx';
import { Loaded } from '../components/loaded.tsx';
import { PageHead } from '../components/page-head.tsx';
import { SaidInFull } from '../components/said-in-full.tsx';
import { TaskButton } from '../components/task-button.tsx';
import { Time } from '../components/time.tsx';
import { PaperTitle } from '../components/titles.tsx';
import { WorkflowLink } from '../components/workflow-link.tsx';
import { documentQuery } from '../document-queries.ts';
import { jobQuery, mayBeRetried } from '../jobs.ts';
import { membersQuery } from '../member-queries.ts';
import { slugsOf } from '../queries.ts';
import { service } from '../service.ts';
import { formatExact, formatSeconds, t } from '../text.ts';

const route = getRouteApi('/o/$organization/$workspace/jobs/$id');

/** A job: what became of it, step by step, why it failed, and what it made. */
export default function JobPage() {
  const { id } = route.useParams();
  return <Loaded query={useQuery(jobQuery(id))}>{(job) => <Known job={job} />}</Loaded>;
}

function Known({ job }: { job: Job }) {
  const { isPlatformAdmin } = route.useRouteContext();
  const { data: stuck } = useQuery({ ...stuckQuery, enabled: isPlatformAdmin, staleTime: Number.POSITIVE_INFINITY });
  const { error, status } = job;
  return (
    <>
      <PageHead title={t.jobs.kinds[job.kind]}>
        <Group gap="md">
          <JobState job={job} />
          <Act job={job} />
        </Group>
      </PageHead>
      {error && (
        <Alert color={status === 'failed' ? 'red' : 'gray'} mb="md" title={t.jobs.lastFailure(error.code)}>
          <SaidInFull {...error} />
          {status === 'failed' && !mayBeRetried(job) && <Text>{t.jobs.hopeless}</Text>}
        </Alert>
      )}
      <Facts job={job}>{stuck && <WorkflowLink url={stuck.jobWorkflowUrl} jobId={job.id} />}</Facts>
      <Steps job={job} />
      {job.result && (
        <Paper withBorder p="md" mt="lg" component="section" aria-label={t.jobs.made}>
          <PaperTitle>{t.jobs.made}</PaperTitle>
          {madeBy(job).map((made) => (
            <Foreign key={made}>{made}</Foreign>
          ))}
        </Paper>
      )}
    </>
  );
}

function Act({ job }: { job: Job }) {
  const { id, status } = job;
  const place = route.useRouteContext();
  const navigate = useNavigate();
  const retry = async () => {
    const again = await service.jobs.retry({ id });
    await navigate({ to: '/o/$organization/$workspace/jobs/$id', params: { ...slugsOf(place), id: again.id } });
  };
  if (status === 'queued')
    return (
      <TaskButton task={() => service.jobs.cancel({ id })} changes={['job', id]}>
        {t.common.cancel}
      </TaskButton>
    );
  return mayBeRetried(job) && <TaskButton task={retry}>{t.common.retry}</TaskButton>;
}

function Facts({ job, children }: { job: Job; children: ReactNode }) {
  const { organization, ...place } = route.useRouteContext();
  const { id, documentId, input, credits, status, attempts, maxAttempts, createdBy } = job;
  const { data: document } = useQuery({ ...documentQuery(documentId ?? ''), enabled: documentId !== null });
  const members = useInfiniteQuery({ ...membersQuery(organization.id), enabled: createdBy !== null });
  const by = members.data?.pages.flatMap((page) => page.members).find(({ userId }) => userId === createdBy);
  const isGivenBack = status === 'failed' || status === 'canceled';
  const params = slugsOf({ organization, ...place });
  return (
    <dl className="facts">
      <Fact name={t.jobs.document}>
        {documentId ? (
          <LinkTo to="/o/$organization/$workspace/documents/$id" params={{ ...params, id: documentId }} size="sm">
            {document?.name ?? '…'}
          </LinkTo>
        ) : (
          job.kind.startsWith('document.') && t.jobs.deletedDocument
        )}
      </Fact>
      <Fact name={t.jobs.attempts}>{t.common.of(String(attempts), String(maxAttempts))}</Fact>
      <Fact name={t.jobs.credits}>{isGivenBack ? t.jobs.givenBack(credits) : t.common.credits(credits)}</Fact>
      <Fact name={t.jobs.by}>{by?.user.name}</Fact>
      <Fact name={t.jobs.retryOf}>
        {input.retryOf && (
          <LinkTo to="/o/$organization/$workspace/jobs/$id" params={{ ...params, id: input.retryOf }} size="sm">
            {t.jobs.first}
          </LinkTo>
        )}
      </Fact>
      <Fact name={t.jobs.id}>
        {id} {children}
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    children && (
      <div>
        <dt>{name}</dt>
        <dd className="foreign">{children}</dd>
      </div>
    )
  );
}

/** What the service tells of the course of a job, in its order: of attempts only the last has a time. */
function Steps({ job: { status, createdAt, startedAt, finishedAt, nextAttemptAt, attempts, waiting } }: { job: Job }) {
  const took = finishedAt && t.jobs.after(formatSeconds(Date.parse(finishedAt) - Date.parse(createdAt)));
  const steps: [string, string | null][] = [
    [t.jobs.enqueued, createdAt],
    [t.jobs.began(attempts), startedAt],
    [`${t.jobs.states[status]}${took ? `, ${took}` : ''}`, finishedAt],
    [waiting ? t.jobs.waiting[waiting] : t.jobs.next, status === 'queued' ? nextAttemptAt : null],
  ];
  return (
    <ol className="steps" aria-label={t.jobs.course}>
      {steps.map(
        ([step, at]) =>
          at && (
            <li key={step}>
              {step}
              <Text span c="dimmed" title={formatExact(at)}>
                {formatExact(at)} · <Time at={at} />
              </Text>
            </li>
          ),
      )}
    </ol>
  );
}

/** What came of a job, in words. */
function madeBy(job: Job): string[] {
  if (job.kind === 'document.process') {
    const { extract, index, summarize } = job.result ?? {};
    return [
      ...madeBy({ ...job, kind: 'document.extract', result: extract ?? null } as Job),
      ...madeBy({ ...job, kind: 'document.index', result: index ?? null } as Job),
      ...madeBy({ ...job, kind: 'document.summarize', result: summarize ?? null } as Job),
    ];
  }
  if (!job.result) return [];
  switch (job.kind) {
    case 'document.extract': {
      const { pages, characters } = job.result;
      return [[...(pages ? [t.document.pages(pages)] : []), t.document.characters(characters)].join(', ')];
    }
    case 'document.index':
      return [`${t.document.chunks(job.result.chunks)}, ${job.result.model}`];
    case 'document.extractFields':
      return [t.jobs.values(job.result.fields.filter(({ value }) => value !== null).length, job.result.model)];
    case 'text.embed':
      return [t.jobs.vectors(job.result.vectors.length, job.result.model)];
    default:
      return [job.result.summary];
  }
}
