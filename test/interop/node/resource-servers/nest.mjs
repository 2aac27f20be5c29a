// An application around the guard, without decorators, which Node does not strip.
import 'reflect-metadata';
import { Controller, Get, Module, Req, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TokenGuard } from './guard.ts';

class Reader {
  read(request) {
    return { user: request.user.sub };
  }
}
Req()(Reader.prototype, 'read', 0);
Get()(Reader.prototype, 'read', Object.getOwnPropertyDescriptor(Reader.prototype, 'read'));
UseGuards(new TokenGuard('read'))(Reader);
Controller()(Reader);
class Main {}
Module({ controllers: [Reader] })(Main);
const app = await NestFactory.create(Main, { logger: ['error'] });
await app.listen(process.env.PORT);
