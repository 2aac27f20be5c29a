// A small server that shows the sample pages at /show/<sample>?lang=, and records what forms send to it.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import type { Sample } from '../../src/admin/resources/branding/samples/sample.ts';
import type { PageModels } from '../../src/views/pages.ts';
import type { Theme } from '../../src/views/theme.ts';
import { createViews, type Views } from '../../src/views/views.ts';

export const plainTheme: Theme = {
  productName: 'Latchkey',
  accentColor: '#1f6f5c',
  supportUrl: 'https://help.example/',
  privacyUrl: 'https://help.example/privacy',
  termsUrl: 'https://help.example/terms',
};

export interface PageServer {
  readonly origin: string;
  /** Bodies of the POST requests so far, oldest first. */
  readonly posted: readonly string[];
  close(): Promise<void>;
}

interface Options {
  readonly samples: Readonly<Record<string, Sample>>;
  readonly theme?: Theme;
  readonly basePath?: string;
  readonly iconOf?: (clientId: string) => string | undefined;
  /** How long a POST waits for its answer. */
  readonly delayMs?: number;
}

const read = async (stream: AsyncIterable<Buffer>): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
};

const show = (views: Views, ctx: Koa.Context, { template, model, formAction }: Sample): void => {
  const uiLocales = typeof ctx.query.lang === 'string' ? ctx.query.lang : undefined;
  // The union of samples is wider than one template's own model; samples.ts has checked each pair.
  const pair = { template, model } as { template: 'error'; model: PageModels['error'] };
  views.send(ctx, pair.template, pair.model, { uiLocales, formAction });
};

export const startPages = async (options: Options) => {
  const { samples, theme = plainTheme, basePath = '', delayMs = 0, iconOf } = options;
  const views = createViews({ theme: () => theme, iconOf, basePath, host: 'id.example.com' });
  const posted: string[] = [];
  const app = new Koa();
  app.silent = true;
  app.use(views.assetRoutes());
  app.use(async (ctx) => {
    if (ctx.method === 'POST') {
      posted.push(await read(ctx.req));
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      views.send(ctx, 'signed-out', {});
      return;
    }
    const sample = samples[decodeURIComponent(ctx.path.replace('/show/', ''))];
    if (sample) show(views, ctx, sample);
  });
  const server = createServer(app.callback());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    posted,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  } satisfies PageServer;
};
