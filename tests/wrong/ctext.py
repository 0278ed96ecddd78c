#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the C of model/ as far as mutants need it: functions, statements, expressions, with places.

Not a C front end: it knows the C this project is written in. What it cannot read it names
(Reader.unread), and leaves alone. Text in #define and in macros outside of functions is not read.
"""
import re

TOKEN = re.compile(r"""
    (?P<space>\s+|/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:\\\n|[^\n])*) |
    (?P<str>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*') |
    (?P<num>0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*) |
    (?P<id>[A-Za-z_]\w*) |
    (?P<op>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|
        [-+*/%&|^~!<>=?:;,.(){}\[\]])
    """, re.X | re.S | re.M)

TYPES = re.compile(r"^(?:u?int\d+_t|u?intptr_t|size_t|struct|enum|union|const|volatile|static|"
                   r"unsigned|signed|int|char|short|long|bool|void|maskword|__uint128_t|\w+_fn)$")
PRECEDENCE = {"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7,
              ">=": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10}
ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
WIDE = {"UINT64_C": "ull", "INT64_C": "ll", "UINT32_C": "u"}
OPAQUE = {"sizeof", "_Alignof", "offsetof", "__typeof__", "__builtin_prefetch", "assert"}


class Unread(Exception):
    pass


class Token:
    __slots__ = ("kind", "text", "start", "end")

    def __init__(self, kind, text, start, end):
        self.kind, self.text, self.start, self.end = kind, text, start, end


class Node:
    """An expression: what it is, where it is, its parts."""
    __slots__ = ("kind", "start", "end", "op", "parts")

    def __init__(self, kind, start, end, op=None, parts=()):
        self.kind, self.start, self.end, self.op, self.parts = kind, start, end, op, parts


def tokens_of(text):
    out, at = [], 0
    while at < len(text):
        m = TOKEN.match(text, at)
        if m is None:
            raise Unread(f"cannot read {text[at:at + 20]!r}")
        if m.lastgroup != "space":
            out.append(Token(m.lastgroup, m.group(), m.start(), m.end()))
        at = m.end()
    return out


class Reader:
    """Calls visitor.statement(kind, start, end, **what) and visitor.expression(node, condition)."""

    def __init__(self, text, visitor):
        self.text, self.visitor = text, visitor
        self.tokens = tokens_of(text)
        self.at = 0
        self.function = None
        self.unread = []

    # ---- tokens ----

    def peek(self, ahead=0):
        i = self.at + ahead
        return self.tokens[i].text if i < len(self.tokens) else ""

    def kind(self, ahead=0):
        i = self.at + ahead
        return self.tokens[i].kind if i < len(self.tokens) else ""

    def start(self):
        return self.tokens[self.at].start

    def end(self):
        """Where the token before this one ends."""
        return self.tokens[self.at - 1].end

    def take(self, text=None):
        if self.at >= len(self.tokens) or (text is not None and self.peek() != text):
            where = self.text.count("\n", 0, self.start()) + 1 if self.at < len(self.tokens) else 0
            raise Unread(f"line {where}: want {text!r}, got {self.peek()!r}")
        self.at += 1
        return self.tokens[self.at - 1]

    def skip_balanced(self):
        close = {"(": ")", "[": "]", "{": "}"}[self.peek()]
        opened = self.take().text
        depth = 1
        while depth:
            t = self.take().text
            depth += (t == opened) - (t == close)

    # ---- the file ----

    def read_file(self):
        while self.at < len(self.tokens):
            start, name = self.at, None
            while self.at < len(self.tokens) and self.peek() not in (";", "{"):
                if self.peek() == "(":
                    if self.kind(-1) == "id" and self.peek(-1) != "__attribute__" and name is None:
                        name = self.peek(-1)
                    self.skip_balanced()
                    # a macro that stands for whole functions ends without a semicolon
                    if self.at < len(self.tokens) and self.starts_line() and self.peek() != "{":
                        start, name = self.at, None
                else:
                    if self.peek() == "=":
                        name = None
                        break
                    self.take()
            if self.at >= len(self.tokens):
                return
            if self.peek() == "{" and name is not None and self.peek(-1) == ")":
                self.function = name
                self.visitor.function(name)
                self.read_statement(last=True)
                self.function = None
                continue
            while self.peek() != ";":
                if self.peek() in "({[":
                    self.skip_balanced()
                else:
                    self.take()
            self.take(";")
            del start

    def starts_line(self):
        before = self.text.rfind("\n", 0, self.start())
        return self.text[before + 1:self.start()] == ""

    # ---- statements ----

    def read_statement(self, last=False, body_of_if=False):
        begin = self.start()
        here = self.at
        word = self.peek()
        try:
            self.read_statement_of(word, begin, last, body_of_if)
        except Unread as e:
            self.unread.append((self.function, str(e)))
            self.at = here
            depth = 0
            while True:
                t = self.take().text
                depth += (t in "([{") - (t in ")]}")
                if depth <= 0 and t in (";", "}"):
                    return

    def read_statement_of(self, word, begin, last, body_of_if):
        if word == "{":
            self.take()
            while self.peek() != "}":
                if self.peek() == ";":
                    self.take()
                    continue
                here, after = self.at, self.peek_after_statement()
                self.at = here
                self.read_statement(last=last and after == "}")
            self.take("}")
        elif word == "if":
            self.take()
            self.read_condition()
            self.read_statement(last=False, body_of_if=True)
            if self.peek() == "else":
                self.take()
                self.read_statement(last=last)
        elif word == "while":
            self.take()
            self.read_condition()
            self.read_statement()
        elif word == "switch":
            self.take()
            self.take("(")
            self.read_expression()
            self.take(")")
            self.read_statement(last=last)
        elif word == "do":
            self.take()
            self.read_statement()
            self.take("while")
            self.read_condition()
            self.take(";")
        elif word == "for":
            self.read_for()
        elif word in ("case", "default"):
            while self.peek() != ":":
                self.take()
            self.take(":")
            if self.peek() != "}":
                self.read_statement(last=last)
        elif word == "return":
            self.take()
            if self.peek() != ";":
                self.read_expression()
            self.take(";")
            self.visitor.statement("return", begin, self.end(), last=last, early=body_of_if)
        elif word in ("break", "continue"):
            self.take()
            self.take(";")
            self.visitor.statement(word, begin, self.end(), last=last, early=body_of_if)
        elif word == "goto" or (self.kind() == "id" and self.peek(1) == ":"):
            raise Unread("goto")
        elif word == ";":
            self.take()
        elif self.is_declaration():
            self.read_declaration()
        else:
            self.read_expression()
            self.take(";")
            self.visitor.statement("expression", begin, self.end(), last=last, early=body_of_if)

    def peek_after_statement(self):
        """The token after the statement that begins here, without visiting anything."""
        depth = 0
        word = self.peek()
        compound = word in ("if", "for", "while", "switch", "do", "{")
        while True:
            t = self.take().text
            depth += (t in ("(", "[", "{")) - (t in (")", "]", "}"))
            if depth == 0 and (t == ";" or (t == "}" and compound)):
                if self.peek() in ("else", "while") and compound:
                    continue
                return self.peek()

    def read_condition(self):
        self.take("(")
        self.read_expression(condition=True)
        self.take(")")

    def read_for(self):
        self.take("for")
        self.take("(")
        if self.peek() != ";":
            if self.is_declaration():
                self.read_declaration(semicolon=False)
            else:
                self.read_expression()
        self.take(";")
        if self.peek() != ";":
            self.read_expression(condition=True)
        self.take(";")
        if self.peek() != ")":
            self.read_expression()
        self.take(")")
        self.read_statement()

    def is_declaration(self):
        if self.kind() != "id":
            return False
        if TYPES.match(self.peek()):
            return True
        if self.kind(1) == "id":
            return True
        return self.peek(1) == "*" and self.kind(2) == "id" and self.peek(3) in ("=", ";", ",")

    def read_declaration(self, semicolon=True):
        constant = self.peek() in ("static", "enum") or (
            self.peek() in ("struct", "union") and self.peek(2) == "{")
        while self.peek() != ";":
            if constant and self.peek() in "({[":
                self.skip_balanced()
            elif self.peek() == "=" and not constant:
                self.take()
                if self.peek() == "{":
                    self.read_initializer()
                else:
                    self.visitor.expression(self.assignment(), False)
            elif self.peek() in ("(", "[", "{"):
                self.skip_balanced()
            else:
                self.take()
        if semicolon:
            self.take(";")

    def read_initializer(self):
        self.take("{")
        while self.peek() != "}":
            while self.peek() in (".", "["):
                if self.peek() == "[":
                    self.skip_balanced()
                else:
                    self.take()
                    self.take()
            if self.peek() == "=":
                self.take()
            if self.peek() == "{":
                self.read_initializer()
            else:
                self.visitor.expression(self.assignment(), False)
            if self.peek() == ",":
                self.take()
        self.take("}")

    # ---- expressions ----

    def read_expression(self, condition=False):
        self.visitor.expression(self.comma(), condition)

    def comma(self):
        node = self.assignment()
        while self.peek() == ",":
            self.take()
            right = self.assignment()
            node = Node("comma", node.start, right.end, ",", (node, right))
        return node

    def assignment(self):
        node = self.ternary()
        if self.peek() in ASSIGN:
            op = self.take().text
            right = self.assignment()
            node = Node("assign", node.start, right.end, op, (node, right))
        return node

    def ternary(self):
        node = self.binary(1)
        if self.peek() == "?":
            self.take()
            yes = self.comma()
            self.take(":")
            no = self.ternary()
            node = Node("ternary", node.start, no.end, "?", (node, yes, no))
        return node

    def binary(self, least):
        node = self.unary()
        while PRECEDENCE.get(self.peek(), 0) >= least:
            op = self.take().text
            right = self.binary(PRECEDENCE[op] + 1)
            node = Node("binary", node.start, right.end, op, (node, right))
        return node

    def unary(self):
        start, word = self.start(), self.peek()
        if word in ("!", "-", "~", "*", "&", "+", "++", "--"):
            self.take()
            inner = self.unary()
            return Node("unary", start, inner.end, word, (inner,))
        if word in ("sizeof", "_Alignof"):
            self.take()
            if self.peek() == "(":
                self.skip_balanced()
            else:
                self.unary()
            return Node("opaque", start, self.end())
        if word == "(" and (TYPES.match(self.peek(1)) or
                            (self.kind(1) == "id" and self.peek(2) == "*" and
                             self.peek(3) == ")") or
                            (self.kind(1) == "id" and self.peek(2) == ")" and
                             (self.kind(3) == "id" or self.peek(3) == "{"))):
            self.skip_balanced()
            if self.peek() == "{":
                parts = self.braces()
                return self.postfix(Node("compound", start, self.end(), None, parts))
            inner = self.unary()
            return Node("cast", start, inner.end, None, (inner,))
        return self.postfix(self.primary())

    def braces(self):
        """A compound literal's values."""
        parts = []
        self.take("{")
        while self.peek() != "}":
            while self.peek() in (".", "["):
                if self.peek() == "[":
                    self.skip_balanced()
                else:
                    self.take()
                    self.take()
            if self.peek() == "=":
                self.take()
            if self.peek() == "{":
                parts += self.braces()
            else:
                parts.append(self.assignment())
            if self.peek() == ",":
                self.take()
        self.take("}")
        return tuple(parts)

    def primary(self):
        start = self.start()
        if self.peek() == "(":
            self.take()
            inner = self.comma()
            self.take(")")
            return Node("paren", start, self.end(), None, (inner,))
        if self.kind() == "num":
            return Node("num", start, self.take().end, self.peek(-1))
        if self.kind() == "str":
            while self.kind() == "str" or (self.kind() == "id" and self.peek().startswith("PRI")):
                self.take()
            return Node("str", start, self.end())
        if self.kind() == "id":
            return Node("id", start, self.take().end, self.peek(-1))
        line = self.text.count("\n", 0, start) + 1
        raise Unread(f"line {line}: {self.peek()!r} in an expression")

    def postfix(self, node):
        while True:
            if self.peek() == "(":
                if node.kind == "id" and node.op in WIDE and self.kind(1) == "num":
                    digits, suffix = self.peek(1), WIDE[node.op]
                    self.skip_balanced()
                    node = Node("num", node.start, self.end(), digits + suffix)
                    continue
                if node.kind == "id" and node.op in OPAQUE:
                    self.skip_balanced()
                    node = Node("opaque", node.start, self.end(), node.op)
                    continue
                self.take()
                parts = [node]
                while self.peek() != ")":
                    if TYPES.match(self.peek()):  # a macro's type
                        while self.peek() not in (",", ")"):
                            self.take()
                    else:
                        parts.append(self.assignment())
                    if self.peek() == ",":
                        self.take()
                self.take(")")
                node = Node("call", node.start, self.end(), None, tuple(parts))
            elif self.peek() == "[":
                self.take()
                inner = self.comma()
                self.take("]")
                node = Node("index", node.start, self.end(), None, (node, inner))
            elif self.peek() in (".", "->"):
                op = self.take().text
                self.take()
                node = Node("member", node.start, self.end(), op, (node,))
            elif self.peek() in ("++", "--"):
                op = self.take().text
                node = Node("post", node.start, self.end(), op, (node,))
            else:
                return node
