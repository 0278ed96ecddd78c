/* SPDX-License-Identifier: BSD-3-Clause */
/* The only C++ of the project: hands the C cases to GoogleTest. */
#include "harness.h"

#include <gtest/gtest.h>

namespace
{

class c_case : public testing::Test
{
public:
    explicit c_case(void (*body)()) : body_(body) {}
    void TestBody() override { harness_run_body(body_); }

private:
    void (*body_)();
};

} // namespace

void harness_report(struct harness_at at, const char *text, bool skip)
{
    auto kind = skip ? testing::TestPartResult::kSkip : testing::TestPartResult::kFatalFailure;
    testing::internal::AssertHelper(kind, at.file, at.line, "") = testing::Message() << text;
}

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (argc > 1) {
        fprintf(stderr, "%s: unknown argument %s\n", argv[0], argv[1]);
        return 2;
    }
    for (harness_case *c = harness_cases; c; c = c->next)
        testing::RegisterTest(c->suite, c->name, nullptr, nullptr, c->file, c->line,
                              [c]() -> testing::Test * { return new c_case(c->body); });
    return RUN_ALL_TESTS();
}
