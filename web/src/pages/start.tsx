import { Button, Checkbox, Stack, Text, TextInput } from '@mantine/core';
import { SheafError } from '@sheaf/client';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { CardPage } from '../parts/card-page.tsx';
import { Failure } from '../parts/failure.tsx';
import { useFormTask } from '../parts/use-form-task.ts';
import { type Organization, queryClient, slugsOf } from '../queries.ts';
import { addSamples } from '../samples.ts';
import { ask, auth, service } from '../service.ts';
import { t } from '../text.ts';

const route = getRouteApi('/start');

/** The first run: an organization, unless there is one without a workspace, and its first workspace. */
export default function Start() {
  const navigate = useNavigate();
  const [existing] = route.useLoaderData();
  const { onSubmit, isPending, error } = useFormTask(async ({ organization: name = '', workspace: first = '', samples }) => {
    const organization = existing ?? (await createOrganization(name));
    await queryClient.invalidateQueries({ queryKey: ['organizations'] });
    const workspace = await service.workspaces.create({ organizationId: organization.id, name: first, slug: slugOf(first) });
    await queryClient.invalidateQueries({ queryKey: ['workspaces'] });
    if (samples) void addSamples(workspace.id);
    await navigate({ to: '/o/$organization/$workspace/documents', params: slugsOf({ organization, workspace }) });
  });
  return (
    <CardPage title={t.start.title}>
      <form onSubmit={onSubmit}>
        <Stack gap="md">
          <Text size="sm" className="foreign">
            {existing ? t.start.workspaceHint(existing.name) : t.start.hint}
          </Text>
          {!existing && <TextInput label={t.start.organization} name="organization" required maxLength={80} autoComplete="organization" />}
          <TextInput label={t.start.workspace} name="workspace" required maxLength={80} defaultValue={t.start.workspaceDefault} />
          <Checkbox name="samples" label={t.start.samples} description={t.start.samplesHint} defaultChecked />
          <Failure error={error} />
          <Button type="submit" loading={isPending}>
            {t.start.create}
          </Button>
        </Stack>
      </form>
    </CardPage>
  );
}

/** The slug is unique among all organizations: one that is taken gets an end of its own. */
async function createOrganization(name: string): Promise<Organization> {
  const slug = slugOf(name);
  return await ask(auth.organization.create({ name, slug })).catch((error: unknown) => {
    if (!(error instanceof SheafError && error.code === 'ORGANIZATION_ALREADY_EXISTS')) throw error;
    return ask(auth.organization.create({ name, slug: `${slug.slice(0, 40)}-${Math.random().toString(36).slice(2, 8)}` }));
  });
}

function slugOf(name: string): string {
  const letters = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '');
  const slug = letters.slice(0, 40).replace(/-+$/, '');
  return slug.length >= 2 ? slug : `${slug || 'w'}-1`;
}
