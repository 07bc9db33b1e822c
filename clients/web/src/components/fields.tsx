import { Button, Group, NativeSelect, Paper, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { jobsQuery, type ListedJob } from '../jobs.ts';
import { type Place, queryClient, slugsOf } from '../queries.ts';
import { service } from '../service.ts';
import { formatPercent, inWords, t } from '../text.ts';
import { Failure } from './failure.tsx';
import { LinkTo } from './link-to.tsx';
import { Rows } from './rows.tsx';
import { StateMark } from './state-mark.tsx';
import { PaperTitle } from './titles.tsx';
import { useFormTask } from './use-form-task.ts';

type Schema = keyof typeof t.fields.schemas;
type FieldsJob = Extract<ListedJob, { kind: 'document.extractFields' }>;
type Result = NonNullable<FieldsJob['result']>;

interface FieldsProps {
  place: Place;
  documentId: string;
}

/** The values that a job has found in a document, each with its quote, and the way to start such a job. */
export default function Fields({ place, documentId }: FieldsProps) {
  const { data } = useInfiniteQuery(jobsQuery(place, { documentId }));
  const jobs = data?.pages.flatMap(({ items }) => items) ?? [];
  const [newest, ...older] = jobs.filter((job) => job.kind === 'document.extractFields');
  const result = [newest, ...older].find((job) => job?.result)?.result;
  const { onSubmit, isPending, error } = useFormTask(async ({ schema }) => {
    await service.jobs.create({ kind: 'document.extractFields', documentId, schema: schema as Schema });
    await queryClient.invalidateQueries({ queryKey: ['jobs', place.workspace.id] });
  });
  return (
    <Paper withBorder p="md" mb="lg" component="section" aria-label={t.fields.title}>
      <PaperTitle>{t.fields.title}</PaperTitle>
      <form onSubmit={onSubmit}>
        <Group gap="sm" align="flex-end" mb="sm">
          <NativeSelect
            size="xs"
            name="schema"
            label={t.fields.schema}
            data={Object.entries(t.fields.schemas).map(([value, label]) => ({ value, label }))}
          />
          <Button type="submit" size="xs" variant="default" loading={isPending}>
            {t.jobs.kinds['document.extractFields']}
          </Button>
          {(newest?.status === 'queued' || newest?.status === 'running') && (
            <StateMark tone="busy">{t.jobs.states[newest.status]}</StateMark>
          )}
        </Group>
      </form>
      <Failure error={error ?? (newest?.error && new Error(inWords(newest.error)))} />
      {result && <Found result={result} place={place} documentId={documentId} />}
    </Paper>
  );
}

function Found({ result: { fields, withheld, model }, place, documentId }: { result: Result } & FieldsProps) {
  return (
    <>
      <Rows heads={[t.fields.field, t.fields.value, t.fields.quote, { number: t.fields.confidence }]}>
        {fields.map((field) => (
          <FieldRow key={field.path} field={field} place={place} documentId={documentId} />
        ))}
      </Rows>
      <Text size="xs" c="dimmed" mt="xs">
        {[...(withheld > 0 ? [t.fields.withheld(withheld)] : []), t.fields.read(model)].join(' · ')}
      </Text>
    </>
  );
}

function FieldRow({ field, place, documentId }: { field: Result['fields'][number] } & FieldsProps) {
  const { path, value, quote, page, start, end, confidence, recognized } = field;
  const where = [...(page ? [t.search.page(page)] : []), ...(recognized ? [t.ask.recognized] : [])].join(' › ');
  return (
    <Table.Tr>
      <Table.Td className="foreign">{nameOf(path)}</Table.Td>
      <Table.Td className="foreign">{value === null ? <Text c="dimmed">{t.fields.missing}</Text> : String(value)}</Table.Td>
      <Table.Td>
        {quote !== null && (
          <LinkTo
            to="/o/$organization/$workspace/documents/$id"
            params={{ ...slugsOf(place), id: documentId }}
            search={{ page: page ?? undefined, start: start ?? undefined, end: end ?? undefined }}
            size="sm"
            className="foreign"
          >
            {quote}
          </LinkTo>
        )}{' '}
        <Text span size="xs" c="dimmed">
          {where}
        </Text>
      </Table.Td>
      <Table.Td className="number" data-label={t.fields.confidence}>
        {value !== null && formatPercent(confidence)}
      </Table.Td>
    </Table.Tr>
  );
}

/** A JSON Pointer in words: `/items/0/net` is `items › 1 › net`. */
function nameOf(path: string): string {
  const parts = path.slice(1).split('/');
  return parts.map((part) => (/^\d+$/.test(part) ? Number(part) + 1 : part.replaceAll('~1', '/').replaceAll('~0', '~'))).join(' › ');
}
