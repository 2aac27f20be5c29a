# Owns the image of every process: `web` by default, `worker` and `release` by another command (Procfile, compose.yaml).
FROM node:24.21.0-bookworm-slim AS bundle
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN sh scripts/bundled.sh src/main.ts node | grep '^bundle/'

FROM node:24.21.0-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY . .
COPY --from=bundle /app/bundle bundle
# The embedded store, and compiled code kept between starts, are all that this user may write.
RUN mkdir -p data node_modules/.cache && chown node:node data node_modules/.cache
USER node
VOLUME /app/data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "const host = process.env.HOST?.trim() || '127.0.0.1'; fetch(`http://${host.includes(':') ? `[${host}]` : host}:${process.env.PORT?.trim() || 3000}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["sh", "scripts/with-node.sh", "src/main.ts"]
