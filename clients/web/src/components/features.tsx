import { Table, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { service } from '../service.ts';
import { t } from '../text.ts';
import { Failure } from './failure.tsx';
import { StateMark } from './state-mark.tsx';

/** The feature flags of the deployment, as they are for the organization. Nothing where there are none. */
export function Features({ organizationId }: { organizationId: string }) {
  const { data = {}, error } = useQuery({
    queryKey: ['flags', organizationId],
    queryFn: ({ signal }) => service.system.flags({ organizationId }, { signal }),
  });
  const flags = Object.entries(data);
  if (flags.length === 0) return <Failure error={error} />;
  return (
    <>
      <Title order={2} size="h4" mt="xl" mb="xs">
        {t.usage.features}
      </Title>
      <Table className="cards">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t.usage.feature}</Table.Th>
            <Table.Th>{t.documents.status}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {flags.map(([key, enabled]) => (
            <Table.Tr key={key}>
              <Table.Td className="foreign">{key}</Table.Td>
              <Table.Td>
                <StateMark tone={enabled ? 'good' : 'quiet'}>{enabled ? t.admin.on : t.admin.off}</StateMark>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </>
  );
}
